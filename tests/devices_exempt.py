"""The tests that need no device, and why: "FILE::TEST" (test_layering.py)."""

OPS = {
    "values that are looked at, which a GPU does not tell before it is waited for": """
        test_loss.py::test_wrong_values_say_what_torch_says
        test_loss.py::test_multilabel_margin_looks_at_every_class
        test_numbers_that_fit.py::test_a_tensor_as_value
    """,
    "words of an error": """
        test_grouped_mm.py::test_refused_in_torchs_words
        test_complex.py::test_refused_in_torchs_words test_eig.py::test_refused
        test_complex_factors.py::test_refused_with_torchs_type
        test_complex_moves.py::test_refused_with_torchs_type
        test_indefinite.py::test_refused_in_torchs_words
        test_fft.py::test_refused test_fft.py::test_too_long test_stft.py::test_refused
        test_stft.py::test_warnings
        test_complex_functions.py::test_refused_with_torchs_type
        test_complex_numbers.py::test_refused_with_torchs_type
        test_complex_tensors.py::test_refused_with_torchs_type
        test_numbers_that_fit.py::test_the_refusal_says_what_fits
        test_arguments.py::test_what_torch_refuses_by_type
    """,
    "CUDA's own lgamma states no bound there": "test_math_accuracy.py::test_lgamma_below_zero",
    "a warning that comes once in a process": "test_old_orders.py::test_it_warns_once",
    "the generator of the CPU: its states, and streams that are torch's there alone": """
        test_attention.py::test_dropout_draws_what_torch_draws
        test_complex_numbers.py::test_random_numbers
        test_random.py::test_a_seed_beyond_64_bits test_random.py::test_states_that_are_none
        test_random.py::test_states_are_exchanged_with_torch
        test_random.py::test_generators_from_several_threads
        test_random_laws.py::test_the_stream_is_torchs
        test_random_laws.py::test_the_stream_of_binomial_is_torchs
    """,
    "it has a virtual GPU of its own, whose waits it forbids": """
        test_split.py::test_an_int_repeats_without_waiting
    """,
    "a real GPU adds in another order, in double": """
        test_scan.py::test_sums_of_halves_are_held_in_float
    """,
    "names and strings of Python": """
        test_fft.py::test_nodes_have_torchs_names test_torch_functions.py::test_factory_kwargs
    """,
    "a tensor without memory": "test_fft.py::test_meta",
    "the CPU's LAPACK: a GPU's library is its own": """
        test_complex_factors.py::test_so_of_real_numbers
    """,
    "integers, which a GPU does not convolve": """
        test_conv.py::test_narrow_integers_wrap_as_int64_cut_to_their_bits
    """,
    "dtypes, and numbers of the host": """
        test_complex_numbers.py::test_numbers_of_numpy test_complex_numbers.py::test_result_types
        test_complex_numbers.py::test_the_default_dtype_decides
    """,
}

NN = {
    "names, parameters, signatures, annotations and texts of Python": """
        test_compiled_module.py::test_dynamo_is_imported_by_its_name
        test_function_attributes.py::test_functional test_function_attributes.py::test_init
        test_function_attributes.py::test_they_are_still_built_in_functions
        test_function_attributes.py::test_attributes_may_refer_back
        test_functional.py::test_parameters_are_those_of_torch
        test_functional.py::test_operations_in_python_are_listed_and_found
        test_functional.py::test_a_missing_name_says_so
        test_init.py::test_gains
        test_layers.py::test_repr test_layers.py::test_missing_name
        test_libraries_names.py::test_python_itself_does_not_call_it
        test_libraries_names.py::test_hints
    """,
    "the call of a module, of which no tensor is a part": """
        test_module_call.py::test_arguments
        test_module_call.py::test_forward_of_the_instance_and_call_of_the_class
        test_module_call.py::test_hooks_come_and_go test_module_call.py::test_errors
        test_module_call.py::test_other_bases test_module_call.py::test_endless_nesting
    """,
    "what is refused, in torch's words: arguments are looked at before any kernel runs": """
        test_init.py::test_wrong_call test_layers.py::test_wrong_call
        test_layers.py::test_words_of_wrong_calls
        test_layers.py::test_bags_of_rows_that_are_not_there
        test_losses.py::test_wrong_call test_recurrent.py::test_packing_refuses
        test_flex_attention.py::test_refused_in_torchs_words
        test_flex_attention.py::test_order_of_writes_is_absent
        test_per_sample_grad.py::test_refusals
        test_per_sample_grad.py::test_dropout_between_recurrent_layers_is_refused
    """,
    "torch's answers of the CPU; other tests of the file run on all devices": """
        test_flex_attention.py::test_blocks_are_torchs
        test_flex_attention.py::test_values_are_torchs
        test_flex_attention.py::test_a_mask_of_other_lengths
    """,
    "the CPU's numbers are torch's own; a GPU's only follow the laws": """
        test_functional.py::test_rrelu_draws_torchs_slopes
    """,
    "it says itself which devices it is about": """
        test_data_parallel.py::test_without_a_gpu_it_runs_the_module_as_it_is
        test_data_parallel.py::test_unequal_gpus_are_warned_of
        test_data_parallel.py::test_other_devices_than_when_it_was_made
        test_data_parallel.py::test_one_gpu_still_goes_through_a_scatter_of_ones_own
        test_data_parallel.py::test_one_gpu_notices_what_lies_elsewhere
        test_data_parallel.py::test_the_quick_look_at_modules_ends
        test_init.py::test_truncated_normal_weights_on_meta
        test_init.py::test_truncated_normal_far_out
    """,
}
