/** A mistake in a call: a sentence of ours with the next step. */
export class Mistake extends Error {}
