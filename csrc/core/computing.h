// How many threads compute without the interpreter's lock.
#pragma once

namespace rushlight {

int computing_threads();

}  // namespace rushlight
