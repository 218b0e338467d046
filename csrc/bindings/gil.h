// The interpreter's lock: held, or given up, to the end of a block. Note: as the interpreter ends,
// CPython ends a daemon thread that asks for the lock by unwinding its stack, and the first
// destructor on it ends the process. Here such a thread waits for the end, as in Python 3.14.
#pragma once

namespace rushlight::python {

class GilHeld {
 public:
  GilHeld();
  ~GilHeld();
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  int before_;
};

class GilReleased {
 public:
  GilReleased();
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  void* thread_;
};

// PyEval_RestoreThread for any thread.
void take_gil_back(void* thread);
// To be called once, with the lock.
void watch_for_the_end();

}  // namespace rushlight::python
