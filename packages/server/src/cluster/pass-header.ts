/**
 * Header with the sender and signature of a forwarded request: `node;to;time;number;names;digest of the
 * body;signature`.
 */
export const passHeader = 'stuntdouble-passed-on'
