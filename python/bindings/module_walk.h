#pragma once

#include "python/bindings/py_ref.h"

namespace msprobe::python {

/// The modules below `model`, in order, each under the first of its names: a list of (module,
/// "Module.encoder.fc.Linear", [(parameter name, parameter)]). `tables(module)` gives the mappings
/// of its children and of its parameters. Null, and a Python error is set, if it fails.
PyRef WalkModules(PyObject* model, PyObject* prefix, PyObject* tables);

}  // namespace msprobe::python
