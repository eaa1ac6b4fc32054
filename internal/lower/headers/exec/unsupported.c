/* Functions of the runtime API that heddle declares and does not support. Each says so once and fails: a program that
   needs one must not seem to work. They ignore their arguments, whatever these are. */
#define UNSUPPORTED(NAME) cudaError_t NAME(void) { return (cudaError_t)heddle_unsupported(#NAME); }

UNSUPPORTED(cudaConfigureCall)
UNSUPPORTED(cudaMallocMipmappedArray)
UNSUPPORTED(cudaFreeMipmappedArray)
UNSUPPORTED(cudaGetMipmappedArrayLevel)
UNSUPPORTED(cudaGraphDebugDotPrint)
UNSUPPORTED(cudaStreamBeginCaptureToGraph)
UNSUPPORTED(cudaMemPoolExportToShareableHandle)
UNSUPPORTED(cudaMemPoolImportFromShareableHandle)
UNSUPPORTED(cudaMemPoolExportPointer)
UNSUPPORTED(cudaMemPoolImportPointer)
UNSUPPORTED(cudaIpcGetMemHandle)
UNSUPPORTED(cudaIpcOpenMemHandle)
UNSUPPORTED(cudaIpcCloseMemHandle)
UNSUPPORTED(cudaIpcGetEventHandle)
UNSUPPORTED(cudaIpcOpenEventHandle)
UNSUPPORTED(cuTensorMapEncodeTiled)
UNSUPPORTED(cuTensorMapEncodeIm2col)
UNSUPPORTED(cuTensorMapReplaceAddress)
