/**
 * Error for a real Redis that cannot be used. Clients get a response with status 503, and the user who starts the
 * server gets the message.
 */
export class RealRedisError extends Error {}

/** The real Redis is not reachable or does not respond. */
export class RealRedisUnreachable extends RealRedisError {}

/** The real Redis does not belong to this sandbox, or no longer belongs to it. The sandbox does not use it. */
export class RealRedisTaken extends RealRedisError {}
