/** The header that says who handed a request on: `node;to;time;number;names;digest of the body;signature`. */
export const passHeader = 'stuntdouble-passed-on'
