/** Error for a wrong call of a tool. Its message contains no captured data. */
export class Mistake extends Error {}
