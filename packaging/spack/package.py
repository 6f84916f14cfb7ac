# SPDX-License-Identifier: GPL-3.0-or-later
"""A Spack recipe: copy the folder into a repository of packages as dlsim. Written after CMakeLists.txt and
cmake/dependencies.cmake; it has not been run where it was written."""

from spack.package import *


class Dlsim(CMakePackage):
    """Discrete-event simulator of GPU clusters that train deep-learning models."""

    license("GPL-3.0-or-later")

    version("main", branch="main")

    variant("cuda", default=False, description="Build the module that predicts on NVIDIA GPUs")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("glpk")
    depends_on("gsl")
    depends_on("hdf5@1.10: ~mpi")
    depends_on("json-c")
    depends_on("libconfig")
    depends_on("libdeflate")
    depends_on("protobuf-c")
    depends_on("zlib-api")
    depends_on("cuda", when="+cuda")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("DLSIM_TESTS", False),
            self.define("DLSIM_PYTHON", "OFF"),
            self.define("DLSIM_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
        ]
