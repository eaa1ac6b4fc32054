package source

import "testing"

// TestUnversioned: CUB, Thrust and libcu++ tell their versions apart by inline namespaces, which
// users do not write. Names of users stay.
func TestUnversioned(t *testing.T) {
	for name, want := range map[string]string{
		"void cub::_V_300600_SM_800::detail::scan::DeviceScanKernel<int, cuda::std::__4::plus<void>>(int)": "" +
			"void cub::detail::scan::DeviceScanKernel<int, cuda::std::plus<void>>(int)",
		"cub::_V_300600_SM_800_900::Sum": "cub::Sum",
		"int cub::CUB_200500_SM_800_NS::BlockReduce<int, (cub::CUB_200500_SM_800_NS::A)2>::Sum(int)": "" +
			"int cub::BlockReduce<int, (cub::A)2>::Sum(int)",
		"cub::CUB_200805_SM_800::Sum":                       "cub::Sum",
		"cub::CUB_101702_NS::Sum":                           "cub::Sum",
		"thrust::THRUST_200500_SM_800_NS::cuda_cub::__fill": "thrust::cuda_cub::__fill",
		"thrust::THRUST_200500_SM_800_NS::pair<int, float>": "thrust::pair<int, float>",
		"std::__1::function<void ()>":                       "std::function<void ()>",
		"std::__cxx11::basic_string<char>":                  "std::__cxx11::basic_string<char>",
		"mine::_V_last::f(NS)":                              "mine::_V_last::f(NS)",
		"mine::CUB_NS::f()":                                 "mine::CUB_NS::f()",
		"my_V_300600::f()":                                  "my_V_300600::f()",
		"k<4>(int*)":                                        "k<4>(int*)",
	} {
		if got := Unversioned(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
