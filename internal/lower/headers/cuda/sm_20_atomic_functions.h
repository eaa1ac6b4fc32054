/* Everything that CUDA headers declare is in the force-included prelude; this one adds nothing. */
