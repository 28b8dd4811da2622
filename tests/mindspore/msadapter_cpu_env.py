"""Makes MindNLP's `mindtorch` an environment like MSAdapter on a CPU. Imported first.

* `import mindtorch` redirects torch to proxies; here `torch.x` becomes the module object
  `mindtorch.x`, as where the package itself is called torch.
* Tensors that MindSpore hands to hooks have no `_device`: they are on the CPU.
* `Tensor.register_hook` of mindtorch 0.5.1 does not work: MindSpore's own is put back.
* `torch_npu` exists on Ascend only: an empty module stands for it.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types

from mindspore import Tensor

_register_hook = Tensor.register_hook

import mindtorch  # noqa: E402
from mindtorch import torch_proxy  # noqa: E402
from mindtorch._bind import device_  # noqa: E402

_cpu = device_("cpu")
Tensor.device = property(lambda self: self.__dict__.get("_device", _cpu))
Tensor.register_hook = _register_hook


class _Loader(importlib.abc.Loader):
    def __init__(self, target):
        self.target = target

    def create_module(self, spec):
        module = importlib.import_module(self.target)
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "torch" or name.startswith("torch."):
            return importlib.machinery.ModuleSpec(name, _Loader("mind" + name))
        return None


sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, torch_proxy.RedirectFinder)]
for _name in [n for n in sys.modules if n == "torch" or n.startswith("torch.")]:
    del sys.modules[_name]
sys.meta_path.insert(0, _Finder())
mindtorch.__version__ = torch_proxy.TORCH_VERSION
sys.modules.setdefault("torch_npu", types.ModuleType("torch_npu"))
