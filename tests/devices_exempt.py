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
        test_random.py::test_states_that_are_none
        test_random.py::test_generators_from_several_threads
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
}
