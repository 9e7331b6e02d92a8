/** Whether it is night: `FULL=1` lets checks that would keep `npm test` for minutes try everything. */
export const isFull = process.env.FULL !== undefined

/** Bytes of the largest body that a check makes: at night as many as the service takes. */
export const largestBody = isFull ? 10_000_000 : 2_000_000
