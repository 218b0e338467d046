"""The tests that need no device, and why: "FILE::TEST" (test_layering.py)."""

OPS = {
    "what is refused, in torch's words: arguments are looked at before any kernel runs": """
        test_attention.py::test_wrong_calls_say_what_torch_says
        test_conv.py::test_wrong_calls_say_what_torch_says
        test_ctc.py::test_refusals test_ctc.py::test_lengths_of_two_kinds_are_refused
        test_distance.py::test_refusals test_einsum.py::test_refusals
        test_householder.py::test_what_ormqr_refuses
        test_loss.py::test_wrong_calls_say_what_torch_says
        test_matmul.py::test_wrong_calls_say_what_torch_says
        test_norm.py::test_wrong_calls_say_what_torch_says
        test_number_forms.py::test_a_number_that_says_nothing
        test_old_orders.py::test_it_warns_once
        test_random.py::test_wrong_calls_raise_torch_s_errors
        test_recurrent.py::test_refusals test_recurrent.py::test_batch_sizes_refused
        test_recurrent.py::test_lstm_refuses_one_state test_recurrent.py::test_cell_refusals
        test_reduce.py::test_errors_in_torch_s_words test_sort.py::test_errors_in_torch_s_words
        test_torch_functions.py::test_what_is_refused
    """,
    "the CPU's numbers are torch's own; a GPU's only follow the laws (test_random_laws.py)": """
        test_attention.py::test_dropout_draws_what_torch_draws
        test_random.py::test_uniform_numbers_are_torch_s
        test_random.py::test_normal_numbers_are_torch_s
        test_random.py::test_other_distributions
        test_random.py::test_integers
        test_random.py::test_the_choice_between_one_word_and_two
        test_random.py::test_every_64_bit_integer
        test_random.py::test_permutations
        test_random.py::test_seeds
        test_random.py::test_a_seed_beyond_64_bits
        test_random.py::test_kinds_mixed_in_one_stream
        test_random.py::test_states_are_exchanged_with_torch
        test_random.py::test_strided_outputs_are_filled_in_torch_s_order
        test_random.py::test_probabilities_of_their_own_for_each_element
        test_random.py::test_multinomial
        test_random.py::test_normal_and_the_like_functions
        test_random.py::test_dropout
        test_random_laws.py::test_the_stream_is_torchs
        test_random_laws.py::test_the_stream_of_binomial_is_torchs
    """,
    "it has a virtual GPU of its own, whose waits it forbids": """
        test_split.py::test_an_int_repeats_without_waiting
    """,
    "names and strings of Python": "test_torch_functions.py::test_factory_kwargs",
    "still on the CPU alone": """
        test_arguments.py::test_any_number_of_tensors
        test_attention.py::test_causal_with_a_mask
        test_conv.py::test_empty_batch
        test_conv.py::test_float_kernels_equal_the_general_one
        test_ctc.py::test_as_torch
        test_einsum.py::test_values_and_gradients
        test_einsum.py::test_an_unchanged_operand_is_a_view
        test_fold.py::test_shuffles_keep_the_format
        test_householder.py::test_geqrf_has_no_gradient
        test_index.py::test_long_rows_gathered
        test_matmul.py::test_integers_wrap
        test_matmul.py::test_out
        test_matmul.py::test_operator
        test_new_tensor.py::test_numbers_are_read_in_the_dtype
        test_norm.py::test_running_statistics
        test_norm.py::test_batch_norm_of_a_vector_without_elements
        test_pool.py::test_integers
        test_pool.py::test_channels_last
        test_product_layouts.py::test_layouts
        test_product_layouts.py::test_steps_between_the_results
        test_product_layouts.py::test_a_product_of_a_nan_is_a_nan
        test_random.py::test_states_that_are_none
        test_random.py::test_gradients_of_dropout_and_fills
        test_random.py::test_generators_from_several_threads
        test_random.py::test_fork_rng_puts_the_stream_back
        test_reduce.py::test_sums_stay_accurate
        test_reduce.py::test_rows_and_columns_of_elements_that_lie_apart
        test_reduce.py::test_any_byte_but_zero_is_true
        test_resample.py::test_channels_last
        test_scatter.py::test_parts_are_replaced_in_a_copy
        test_small.py::test_any_byte_but_0_is_true
        test_sort.py::test_orders_are_stable_and_selections_exact
        test_split.py::test_the_names_of_arguments
        test_split.py::test_unsafe_parts_share_memory
        test_torch_functions.py::test_map2
        test_zero_gradients.py::test_backward_hook_of_a_module_of_several_nodes
    """,
}
