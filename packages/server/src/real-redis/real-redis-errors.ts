/** A real Redis cannot be used. Clients get it as a 503, and the user who starts the server as a message. */
export class RealRedisError extends Error {}

/** The real Redis is not reachable or does not respond. */
export class RealRedisUnreachable extends RealRedisError {}

/** The real Redis does not belong to this sandbox, or no longer does, so the sandbox does not use it. */
export class RealRedisTaken extends RealRedisError {}
