/** What keeps an engine from being asked: told to whoever asks with a 503, and to whoever starts one as a sentence. */
export class RealRedisError extends Error {}

/** It is not there, or does not answer. */
export class RealRedisUnreachable extends RealRedisError {}

/** It is not, or no longer, this sandbox's own: nothing is done to it any more. */
export class RealRedisTaken extends RealRedisError {}
