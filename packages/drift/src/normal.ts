// Replaces values that differ between runs with placeholders. All other values can then be compared.

const ids = /\b(msg|scd|wfr|jwt|evt|sig)_[A-Za-z0-9]{6,200}(?:_[A-Za-z0-9]{1,200}){0,20}\b/g
const letters = /\b\d{13}-\d{1,20}\b/g
const isoTime = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,20})?(?:Z|[+-]\d\d:\d\d)/g
const milliseconds = /(?<![\w.-])\d{13}(?![\w.-])/g
const address = /\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}\b|::1/gi

/** Returns a response of the queue with placeholders for IDs, times and IP addresses. */
export function normalize(value: unknown): unknown {
  if (typeof value === 'string') return normalText(value)
  // A number that matches is a time between 2017 and 2065, in milliseconds or seconds since the epoch.
  if (typeof value === 'number') return /^(?:1[5-9]|2[0-9])(?:\d{8}|\d{11})$/.test(String(value)) ? '<time>' : value
  if (Array.isArray(value)) return value.map(normalize)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [normalText(name), normalize(field)]))
}

function normalText(text: string): string {
  return text
    .replace(ids, (_, kind: string) => `<${kind}>`)
    .replace(letters, '<cursor>')
    .replace(isoTime, '<time>')
    .replace(milliseconds, '<time>')
    .replace(address, '<address>')
}
