/* Empty: the force-included prelude declares everything of the CUDA headers. */
