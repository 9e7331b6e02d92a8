/** A mistake in a call. The message contains no captured data. */
export class Mistake extends Error {}
