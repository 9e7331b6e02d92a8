// The facts of the published HTTP Archive 1.2: required fields and their types.

type Check = (value: unknown, path: string) => string[]

const kind =
  (name: string, fits: (value: unknown) => boolean): Check =>
  (value, path) =>
    fits(value) ? [] : [`${path} is no ${name}`]
const text = kind('text', (value) => typeof value === 'string')
const whole = kind('whole number', (value) => Number.isInteger(value))
const size = kind('size', (value) => Number.isInteger(value) && (value as number) >= -1)
const span = kind('span in milliseconds', (value) => typeof value === 'number' && value >= -1)
/** ISO 8601 with a time zone. */
const date = kind(
  'date',
  (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value),
)

const list =
  (item: Check): Check =>
  (value, path) =>
    Array.isArray(value) ? value.flatMap((one, index) => item(one, `${path}[${index}]`)) : [`${path} is no list`]

/** Other fields are allowed only if they begin with an underscore. */
const object =
  (needed: Record<string, Check>, optional: Record<string, Check> = {}): Check =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no object`]
    const given = value as Record<string, unknown>
    const rules = { ...needed, ...optional }
    return [
      ...Object.keys(needed)
        .filter((name) => !Object.hasOwn(given, name))
        .map((name) => `${path}.${name} is missing`),
      ...Object.entries(given).flatMap(([name, field]) => {
        if (Object.hasOwn(rules, name)) return rules[name]!(field, `${path}.${name}`)
        return name.startsWith('_') ? [] : [`${path}.${name} is no field of HAR 1.2`]
      }),
    ]
  }

const comment = { comment: text }
const pair = object({ name: text, value: text }, comment)
const cookie = object(
  { name: text, value: text },
  {
    path: text,
    domain: text,
    expires: date,
    httpOnly: kind('flag', (value) => typeof value === 'boolean'),
    secure: kind('flag', (value) => typeof value === 'boolean'),
    ...comment,
  },
)
const request = object(
  {
    method: text,
    url: kind('absolute url', (value) => typeof value === 'string' && /^[a-z]+:\/\//i.test(value)),
    httpVersion: text,
    cookies: list(cookie),
    headers: list(pair),
    queryString: list(pair),
    headersSize: size,
    bodySize: size,
  },
  {
    postData: object(
      {
        mimeType: text,
        params: list(object({ name: text }, { value: text, fileName: text, contentType: text, ...comment })),
        text,
      },
      comment,
    ),
    ...comment,
  },
)
const response = object(
  {
    status: whole,
    statusText: text,
    httpVersion: text,
    cookies: list(cookie),
    headers: list(pair),
    content: object({ size: whole, mimeType: text }, { compression: whole, text, encoding: text, ...comment }),
    redirectURL: text,
    headersSize: size,
    bodySize: size,
  },
  comment,
)
const entry = object(
  {
    startedDateTime: date,
    time: kind('span', (value) => typeof value === 'number' && value >= 0),
    request,
    response,
    cache: object({}, { beforeRequest: text, afterRequest: text, ...comment }),
    timings: object(
      { send: span, wait: span, receive: span },
      { blocked: span, dns: span, connect: span, ssl: span, ...comment },
    ),
  },
  { pageref: text, serverIPAddress: text, connection: text, ...comment },
)
const creator = object({ name: text, version: text }, comment)
const har = object({
  log: object(
    { version: text, creator, entries: list(entry) },
    {
      browser: creator,
      pages: list(object({ startedDateTime: date, id: text, title: text, pageTimings: object({}) })),
      ...comment,
    },
  ),
})

/** Returns the problems of an archive; empty if it is valid. */
export function harErrors(archive: unknown): string[] {
  const errors = har(archive, 'har')
  const entries =
    (
      archive as {
        log?: { entries?: readonly { time: number; startedDateTime: string; timings: Record<string, number> }[] }
      }
    ).log?.entries ?? []
  entries.forEach(({ time, timings }, index) => {
    // "time" is the sum of all timings that apply.
    const sum = Object.values(timings ?? {})
      .filter((part) => part > 0)
      .reduce((all, part) => all + part, 0)
    if (timings !== undefined && sum !== time)
      errors.push(`har.log.entries[${index}].time is ${time}, its timings sum up to ${sum}`)
  })
  const times = entries.map(({ startedDateTime }) => startedDateTime)
  if (times.some((at, index) => index > 0 && at < times[index - 1]!))
    errors.push('har.log.entries are not sorted by time')
  return errors
}
