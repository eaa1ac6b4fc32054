/* Functions of the runtime API that heddle declares and does not support. Each says so once and fails: a program that
   needs one must not seem to work. They ignore their arguments, whatever these are. */
#define UNSUPPORTED(NAME) cudaError_t NAME(void) { return (cudaError_t)heddle_unsupported(#NAME); }

UNSUPPORTED(cudaConfigureCall)
UNSUPPORTED(cudaMallocFromPoolAsync)
UNSUPPORTED(cudaMalloc3DArray)
UNSUPPORTED(cudaMallocArray)
UNSUPPORTED(cudaFreeArray)
UNSUPPORTED(cudaHostRegister)
UNSUPPORTED(cudaHostUnregister)
UNSUPPORTED(cudaMemcpy2DToArray)
UNSUPPORTED(cudaMemcpy2DFromArray)
UNSUPPORTED(cudaMemcpyToArray)
UNSUPPORTED(cudaMemcpyFromArray)
UNSUPPORTED(cudaDeviceGetDefaultMemPool)
UNSUPPORTED(cudaStreamBeginCapture)
UNSUPPORTED(cudaStreamEndCapture)
UNSUPPORTED(cudaGraphCreate)
UNSUPPORTED(cudaGraphDestroy)
UNSUPPORTED(cudaGraphExecDestroy)
UNSUPPORTED(cudaGraphInstantiateWithFlags)
UNSUPPORTED(cudaGraphGetNodes)
UNSUPPORTED(cudaGraphLaunch)
