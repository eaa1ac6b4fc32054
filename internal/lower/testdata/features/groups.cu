// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
struct S3 { float a; int b; double c; };
template <int N> __global__ void __launch_bounds__(N * 2, 1 + 1) lb(int *p) { p[threadIdx.x + blockIdx.x*blockDim.x] = N; }
template __global__ void lb<32>(int *p);
constexpr int kT = 64;
__global__ void __launch_bounds__(kT, 2, 1) lb3(int *p) { p[threadIdx.x + blockIdx.x*blockDim.x] = 1; }
struct PP { int a[4]; };
__global__ void gc(const __grid_constant__ PP q, int *p) { p[threadIdx.x + blockIdx.x*blockDim.x] = q.a[threadIdx.x & 3]; }
__global__ void __maxnreg__(32) mxr(int *p) { p[threadIdx.x + blockIdx.x*blockDim.x] = 1; }
#define ARGS int *p, unsigned *u, long long *l, unsigned long long *ull, float *f, double *d, int n
#define INDEX int t = threadIdx.x + blockIdx.x * blockDim.x
__global__ void cg_basic(ARGS) { INDEX; cg::thread_block b = cg::this_thread_block(); p[t] = b.thread_rank() + b.size() + b.group_index().x + b.thread_index().x + b.num_threads() + b.group_dim().x + b.dim_threads().x; b.sync(); cg::sync(b); }
__global__ void cg_grid(ARGS) { INDEX; cg::grid_group g = cg::this_grid(); p[g.thread_rank()] = g.size() + g.block_rank() + g.num_blocks() + g.dim_blocks().x + g.block_index().x + g.is_valid(); }
__global__ void cg_gsync(ARGS) { INDEX; cg::grid_group g = cg::this_grid(); p[g.thread_rank()] = 1; g.sync(); u[g.thread_rank()] = p[g.size() - 1 - g.thread_rank()]; }
__global__ void cg_tile(ARGS) { INDEX; auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b); p[t] = w.shfl(n, 0) + w.shfl_up(n, 1) + w.shfl_down(n, 1) + w.shfl_xor(n, 1) + w.any(n) + w.all(n) + w.ballot(n) + w.match_any(n) + w.meta_group_rank() + w.meta_group_size() + w.num_threads() + w.thread_rank(); int q; p[t] += w.match_all(n, q) + q; }
__global__ void cg_tile4(ARGS) { INDEX; auto w = cg::tiled_partition<4>(cg::this_thread_block()); p[t] = cg::reduce(w, n, cg::plus<int>()) + w.shfl(n, 2); }
__global__ void cg_tile1(ARGS) { INDEX; auto w = cg::tiled_partition<1>(cg::this_thread_block()); p[t] = w.size() + w.shfl(n, 0); }
__global__ void cg_nested(ARGS) { INDEX; auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto v = cg::tiled_partition<8>(w); p[t] = v.shfl(t, 0) + v.meta_group_rank(); }
__global__ void cg_tb(ARGS) { INDEX; cg::thread_block_tile<32> w = cg::tiled_partition<32>(cg::this_thread_block()); cg::thread_block_tile<16, cg::thread_block_tile<32>> v = cg::tiled_partition<16>(w); p[t] = v.size(); v.sync(); }
__global__ void cg_dyn(ARGS) { INDEX; cg::thread_group g = cg::tiled_partition(cg::this_thread_block(), 16); p[t] = g.thread_rank() + g.size(); g.sync(); }
__global__ void cg_shfls(ARGS) { INDEX; auto w = cg::tiled_partition<32>(cg::this_thread_block()); S3 s{1.f, t, 2.0}; s = w.shfl(s, 3); s = w.shfl_down(s, 3); s = w.shfl_xor(s, 1); p[t] = s.b; }
__global__ void cg_big(ARGS) { INDEX; __shared__ cg::block_tile_memory<128> sm; auto b = cg::this_thread_block(sm); auto w = cg::tiled_partition<64>(b); p[t] = cg::reduce(w, t, cg::plus<int>()); w.sync(); p[t] += w.shfl(t, 3) + w.any(n) + w.all(n); }
__global__ void cg_big2(ARGS) { INDEX; __shared__ cg::experimental::block_tile_memory<4, 128> sm; auto b = cg::experimental::this_thread_block(sm); auto w = cg::experimental::tiled_partition<64>(b); w.sync(); p[t] = 1; }
__global__ void cg_red(ARGS) { INDEX; auto w = cg::tiled_partition<32>(cg::this_thread_block()); p[t] = cg::reduce(w, n, cg::less<int>()) + cg::reduce(w, n, cg::greater<int>()) + cg::reduce(w, n, cg::bit_and<int>()) + cg::reduce(w, n, cg::bit_or<int>()) + cg::reduce(w, n, cg::bit_xor<int>()); f[t] = cg::reduce(w, f[t], cg::plus<float>()); f[t] = cg::reduce(w, f[t], [](float a, float b) { return a * b; }); d[t] = cg::reduce(w, d[t], cg::greater<double>()); }
__global__ void cg_scan(ARGS) { INDEX; auto w = cg::tiled_partition<32>(cg::this_thread_block()); p[t] = cg::inclusive_scan(w, n) + cg::exclusive_scan(w, n) + cg::inclusive_scan(w, n, cg::plus<int>()) + cg::exclusive_scan(w, n, cg::less<int>()); }
__global__ void cg_coal(ARGS) { INDEX; auto c = cg::coalesced_threads(); p[t] = c.size() + c.thread_rank() + c.shfl(n, 0) + c.any(n) + c.ballot(n) + c.shfl_down(n, 1) + c.shfl_up(n, 1) + cg::reduce(c, n, cg::plus<int>()) + cg::inclusive_scan(c, n) + c.meta_group_size(); c.sync(); }
__global__ void cg_scanu(ARGS) { INDEX; __shared__ cuda::atomic<int, cuda::thread_scope_block> s; if (!threadIdx.x) s = 0; __syncthreads(); auto c = cg::coalesced_threads(); p[t] = cg::exclusive_scan_update(c, s, 1, cg::plus<int>()) + cg::inclusive_scan_update(c, s, 1, cg::plus<int>()); }
__global__ void cg_upd(ARGS) { INDEX; auto w = cg::tiled_partition<32>(cg::this_thread_block()); cuda::atomic_ref<int, cuda::thread_scope_device> r(p[0]); cg::reduce_update_async(w, r, n, cg::plus<int>()); cg::reduce_store_async(w, u + t / 32, (unsigned)n, cg::plus<unsigned>()); }
__global__ void cg_lab(ARGS) { INDEX; auto c = cg::coalesced_threads(); auto g = cg::labeled_partition(c, t & 3); p[t] = g.size() + g.thread_rank() + cg::reduce(g, n, cg::plus<int>()); }
__global__ void cg_lab2(ARGS) { INDEX; auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::labeled_partition(w, t & 3); p[t] = g.size() + g.meta_group_rank(); }
__global__ void cg_bin(ARGS) { INDEX; auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::binary_partition(w, t & 1); p[t] = g.size() + g.shfl(n, 0); g = cg::binary_partition(cg::coalesced_threads(), t & 1); p[t] += g.size(); }
__global__ void cg_mem(ARGS) { INDEX; __shared__ int s[64]; auto b = cg::this_thread_block(); cg::memcpy_async(b, s, p, sizeof(int) * 64); cg::wait(b); u[t] = s[threadIdx.x]; }
__global__ void cg_mem2(ARGS) { INDEX; __shared__ int s[64]; auto b = cg::this_thread_block(); cg::memcpy_async(b, s, 64, p, 64); cg::wait_prior<0>(b); u[t] = s[threadIdx.x]; }
__global__ void cg_mem3(ARGS) { INDEX; __shared__ int4 s[16]; auto b = cg::this_thread_block(); cg::memcpy_async(b, s, (int4*)p, cuda::aligned_size_t<16>(256)); cg::wait(b); u[t] = s[threadIdx.x/4].x; }
__global__ void cg_inv(ARGS) { INDEX; auto b = cg::this_thread_block(); cg::invoke_one(b, [&] { p[blockIdx.x] = 1; }); int r = cg::invoke_one_broadcast(cg::coalesced_threads(), [&] { return n; }); u[t] = r; }
__global__ void cg_clu(ARGS) { INDEX; auto c = cg::this_cluster(); p[t] = c.block_rank() + c.num_blocks() + c.thread_rank() + c.dim_blocks().x; c.sync(); }
__global__ void cg_multi(ARGS) { INDEX; auto w = cg::tiled_partition<32>(cg::this_thread_block()); if (w.thread_rank() == 0) p[t] = 3; w.sync(); cg::thread_block_tile<8> x = cg::tiled_partition<8>(w); p[t] = x.thread_rank(); }
__global__ void cg_static(ARGS) { INDEX; typedef cg::thread_block_tile<16> T; T w = cg::tiled_partition<16>(cg::this_thread_block()); static_assert(T::size() == 16, ""); p[t] = T::num_threads(); }
__global__ void cg_ghalves(ARGS) { INDEX; cg::grid_group g = cg::this_grid(); p[g.thread_rank()] = 1; cg::grid_group::arrival_token o = g.barrier_arrive(); g.barrier_wait(static_cast<unsigned int &&>(o)); u[g.thread_rank()] = p[g.size() - 1 - g.thread_rank()] + cg::details::bar_has_flipped(o, o ^ 0x80000000u); asm volatile("st.u32 [%0], 1;" ::_CG_ASM_PTR_CONSTRAINT(p)); }
__global__ void cg_tmpl(ARGS) { INDEX; auto f1 = [&](auto const &g) { return g.thread_rank() + g.size(); }; p[t] = f1(cg::this_thread_block()) + f1(cg::this_grid()) + f1(cg::coalesced_threads()) + f1(cg::tiled_partition<2>(cg::this_thread_block())); }
__global__ void cg_arr(ARGS) { INDEX; auto b = cg::this_thread_block(); auto tok = b.barrier_arrive(); b.barrier_wait(std::move(tok)); p[t]=1;  }
__global__ void cg_fn(ARGS) { INDEX; cg::thread_block b = cg::this_thread_block(); p[t] = cg::thread_rank(b) + cg::group_size(b);  }
__global__ void cg_halfred(ARGS) { INDEX; p[t] = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), (unsigned long long)t, cg::plus<unsigned long long>()); }
__global__ void grp_const(ARGS) { INDEX; p[t] = cg::thread_block::thread_rank() + cg::thread_block::size() + cg::thread_block::group_index().x; cg::thread_block::sync(); cg::grid_group::thread_rank(); }
