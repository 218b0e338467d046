// Completes the docstrings of rows. It runs at import for the rows of C++, so it only cuts and
// joins text: some 2 us a row.
#include "help.h"

namespace rushlight::python {
namespace {

using Text = std::string_view;

// The parameters that mean the same wherever they occur, in alphabetical order.
constexpr std::pair<Text, Text> kDescriptions[] = {
    {"_random_samples",
     "uniform random numbers in [0, 1) that choose the windows; None to draw them."},
    {"_stacklevel", "without effect."},
    {"bias", "what is added to each channel of the result; None for nothing."},
    {"ceil_mode", "whether a last window that reaches over the edge counts."},
    {"correction", "what is subtracted from the number of elements; None for 1."},
    {"count_include_pad", "whether the zeros of the padding count."},
    {"cudnn_enable", "a hint, which changes nothing."},
    {"cudnn_enabled", "a hint, which changes nothing."},
    {"device", "the device of the result; None for the default device."},
    {"dilation", "the step between the elements of a window."},
    {"dim", "the dimension; a negative one counts from the last."},
    {"dims", "the dimensions; negative ones count from the last."},
    {"divisor_override", "what the sum of a window is divided by; None for its size."},
    {"dtype", "the dtype that input is converted to first; None for no conversion."},
    {"generator", "the random number generator; None for the device's default one."},
    {"inplace", "whether the result is written to input."},
    {"input", "the input tensor."},
    {"keepdim", "whether a reduced dimension stays, with size 1."},
    {"kernel_size", "the size of a window, one number or one for each dimension."},
    {"layout", "torch.strided; zeros(), empty() and their like also take torch.sparse_coo."},
    {"memory_format", "the order of the dimensions in memory, such as torch.channels_last."},
    {"non_blocking",
     "whether the call may return before a copy from page-locked memory to a GPU ends."},
    {"norm_type", "the exponent p."},
    {"other", "the second operand."},
    {"out", "the tensor that the result is written to."},
    {"output_ratio", "the size of the result as a fraction of input's, instead of output_size."},
    {"output_size", "the size of the result, one number or one for each dimension."},
    {"padding", "how far windows reach over the edges."},
    {"pin_memory", "whether the result lies in page-locked memory, which a GPU reads directly."},
    {"reduce", "deprecated; see reduction."},
    {"reduction", "'none' for each loss, 'mean' or 'sum' of them."},
    {"requires_grad", "whether autograd records operations on the result."},
    {"return_indices", "whether to return also the index of each maximum in its flattened plane."},
    {"size", "the shape: integers, or one sequence of them."},
    {"size_average", "deprecated; see reduction."},
    {"stride", "the step between windows; None for kernel_size."},
    {"tensors", "a sequence of tensors."},
    {"train", "whether elements are dropped; False returns the input."},
    {"training", "whether elements are dropped; False returns the input."},
    {"unbiased", "True for correction=1, False for correction=0."},
    {"x", "the input tensor."}};
static_assert(std::is_sorted(std::begin(kDescriptions), std::end(kDescriptions)));

bool has_parameter(const Signature& s, Text name) {
  return std::any_of(s.parameters.begin(), s.parameters.end(),
                     [&](const Signature::Parameter& p) { return p.name == name; });
}

// Empty where the parameter has no common meaning.
Text description_of(const Signature& s, const Signature::Parameter& p) {
  const Text name = p.name;
  const bool creates = has_parameter(s, "requires_grad"), reduces = has_parameter(s, "keepdim");
  const bool has_input = has_parameter(s, "input") || has_parameter(s, "self");
  if (name == "dtype" && creates)
    return has_input ? "the dtype of the result; None for that of the input."
                     : "the dtype of the result; None for the default one.";
  if (name == "device" && creates && has_input)
    return "the device of the result; None for that of the input.";
  if (name == "dim" && reduces)
    return p.fallback == Py_None ? "the dimension or dimensions to reduce; None for all."
                                 : "the dimension to reduce.";
  if (name == "out" && s.result) return "a tuple of tensors that the results are written to.";
  const auto found = std::lower_bound(std::begin(kDescriptions), std::end(kDescriptions), name,
                                      [](const auto& pair, Text n) { return pair.first < n; });
  return found != std::end(kDescriptions) && found->first == name ? found->second : Text();
}

// Takes the lines before the first that begins with one of the words.
Text take_until(Text& rest, std::initializer_list<Text> words) {
  std::size_t at = 0;
  const auto is_end = [&](Text line) {
    return std::any_of(words.begin(), words.end(), [&](Text w) { return line.starts_with(w); });
  };
  while (at < rest.size() && !is_end(rest.substr(at))) {
    const std::size_t line = rest.find('\n', at);
    at = line == rest.npos ? rest.size() : line + 1;
  }
  const Text taken = rest.substr(0, at);
  rest.remove_prefix(at);
  return taken;
}
Text without_blank_end(Text text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "    dim, index: words", with the lines that continue it.
struct Description {
  Text names, text;
  bool is_written = false;
  bool names_parameter(Text name) const {
    Text rest = names;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(", ");
      if (rest.substr(0, comma) == name) return true;
      rest.remove_prefix(comma == rest.npos ? rest.size() : comma + 2);
    }
    return false;
  }
};

std::vector<Description> descriptions_in(Text block) {
  std::vector<Description> all;
  while (!block.empty()) {
    Text line = block.substr(0, block.find('\n'));
    const bool begins = line.size() > 4 && line.starts_with("    ") && line[4] != ' ';
    block.remove_prefix(std::min(line.size() + 1, block.size()));
    if (begins)
      all.push_back({line.substr(4, line.find(':') - 4), line});
    else if (!all.empty() && !line.empty())
      all.back().text = {all.back().text.data(), line.data() + line.size()};
  }
  return all;
}

void add_arguments(std::string& text, Text block, const std::vector<const Signature*>& signatures) {
  if (block.starts_with(" as of ")) {  // another function explains them
    (text += "\n\nArgs:") += without_blank_end(block);
    return;
  }
  std::vector<Description> own = descriptions_in(block);
  std::vector<Text> described;
  std::string lines;
  for (const Signature* s : signatures)
    for (const Signature::Parameter& p : s->parameters) {
      if (std::find(described.begin(), described.end(), p.name) != described.end()) continue;
      described.push_back(p.name);
      const auto found = std::find_if(
          own.begin(), own.end(), [&](const Description& d) { return d.names_parameter(p.name); });
      if (found == own.end()) {
        if (const Text common = description_of(*s, p); !common.empty())
          ((lines += "    ") += p.name) += ": ", (lines += common) += '\n';
      } else if (!std::exchange(found->is_written, true)) {
        (lines += found->text) += '\n';
      }
    }
  for (const Description& d : own)
    if (!d.is_written) (lines += d.text) += '\n';
  if (!lines.empty()) (text += "\n\nArgs:\n") += without_blank_end(lines);
}

void add_example(std::string& text, Text example) {
  text += "\n\nExample:\n";
  const bool is_indented = example.starts_with(' ');
  while (!example.empty()) {
    const Text line = example.substr(0, example.find('\n'));
    if (!is_indented && !line.empty()) text += "    ";
    (text += line) += '\n';
    example.remove_prefix(std::min(line.size() + 1, example.size()));
  }
}

}  // namespace

std::string help_of(std::string_view doc, const std::vector<const Signature*>& signatures) {
  static constexpr Text kSections[] = {
      "Args:", "Shape:", "Returns:", "Raises:", "Example:", ">>>", "    >>>"};
  const auto take_section = [&](Text word) {
    Text section;
    if (doc.starts_with(word)) {
      doc.remove_prefix(word.size());
      section = take_until(doc, {kSections[0], kSections[1], kSections[2], kSections[3],
                                 kSections[4], kSections[5], kSections[6]});
    }
    return section;
  };
  std::string text;
  text.reserve(doc.size() + 400);
  text += without_blank_end(take_section(""));
  add_arguments(text, take_section("Args:"), signatures);
  const bool reduces = std::any_of(signatures.begin(), signatures.end(),
                                   [](const Signature* s) { return has_parameter(*s, "keepdim"); });
  if (reduces && !doc.starts_with("Shape:"))
    text += "\n\nShape:\n    that of input without dim; with keepdim, dim has size 1.";
  const Text sections = take_until(doc, {"Example:", ">>>", "    >>>"});
  if (!sections.empty()) (text += "\n\n") += without_blank_end(sections);
  take_until(doc, {">>>", "    >>>"});
  if (!doc.empty()) add_example(text, without_blank_end(doc));
  return text;
}

}  // namespace rushlight::python
