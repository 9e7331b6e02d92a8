// Converts the two responses into charts. It does not depend on the page or on the test double: it is written
// against the public documents of the two endpoints.

/**
 * @typedef {import('./figures.js').Source} Source
 * @typedef {import('./figures.js').Chart} Chart
 */

/**
 * Fetches both endpoints and returns a chart for each response.
 * @param {Source} source
 * @param {string} period
 * @returns {Promise<{ queue: Chart, search: Chart }>}
 */
export async function readUsage(source, period) {
  const [queue, search] = await Promise.all([ask(source, source.queue, period), ask(source, source.search, period)])
  return { queue: queueChart(queue), search: searchChart(search) }
}

async function ask({ fetch, headers }, url, period) {
  const answer = await fetch(`${url}?period=${encodeURIComponent(period)}`, { headers: { ...headers } })
  const text = await answer.text()
  if (answer.ok) return JSON.parse(text)
  throw new Error(`${answer.status}: ${messageOf(text)}`)
}

/** Returns the text of an error: in `error`, in `message`, or the body itself. */
function messageOf(text) {
  try {
    const { error, message } = JSON.parse(text)
    return error ?? message ?? text
  } catch {
    return text
  }
}

function queueChart(report) {
  const series = Object.fromEntries(report.daily_qstash_messages.map(({ id, data_points }) => [id, data_points]))
  const today = todayOf(report.daily_requests, report.daily_used)
  return {
    title: 'Queue',
    lines: [
      line('messages', report.daily_used),
      line('delivered', series.delivered ?? []),
      line('retried', series.retried ?? []),
      line('failed', series.failed ?? []),
    ],
    facts: [
      fact('messages today', today?.y ?? 0),
      fact('of workflows', today?.workflow_message ?? 0),
      fact('bandwidth today', bytes(todayOf(report.daily_bandwidths, report.daily_used)?.y ?? 0)),
      fact('dead letters', report.dlq_message_count),
      fact('this month', dollars(report.total_monthly_billing)),
    ],
  }
}

function searchChart(report) {
  return {
    title: 'Search index',
    lines: [line('queries', report.query_throughput), line('updates', report.update_throughput)],
    facts: [
      fact('queries today', report.daily_query_count),
      fact('queries this month', report.monthly_query_count),
      fact('vectors', report.current_vector_count),
      fact('pending', report.pending_index_count),
      fact('storage', bytes(report.storage_usage)),
      fact('99 % of queries within', `${Math.max(0, ...report.query_latency_99.map(({ y }) => y))} ms`),
      fact('this month', dollars(report.monthly_cost)),
    ],
  }
}

/**
 * Returns the value of today. The queue's daily arrays cover the whole month with future days, and every day has the time
 * of the request, so today is the day in the last interval of the period.
 */
function todayOf(days, period) {
  const [before, last] = period.slice(-2).map(({ x }) => timeOf(x))
  return days.find(({ x }) => timeOf(x) >= last && timeOf(x) < last + (last - before))
}

function line(name, points) {
  return { name, points: points.map(({ x, y }) => ({ at: timeOf(x), value: y })) }
}

function fact(name, value) {
  return { name, value: typeof value === 'number' ? value.toLocaleString('en-US') : value }
}

/**
 * Returns the milliseconds of `2025-10-01 11:33:05.585757103 +0000 UTC`, which has up to nine decimals without trailing zeros.
 * @param {string} stamp
 */
export function timeOf(stamp) {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)? \+0000 UTC$/.exec(stamp)
  if (match === null) throw new Error(`${stamp} is no time stamp`)
  return Date.parse(`${match[1]}T${match[2]}Z`) + Math.floor(Number(match[3] ?? 0) * 1000)
}

const units = ['B', 'kB', 'MB', 'GB', 'TB']

function bytes(count) {
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3))
  return `${Math.round((count / 1000 ** unit) * 10) / 10} ${units[unit]}`
}

function dollars(amount) {
  return `$${amount.toFixed(amount < 1 ? 6 : 2)}`
}
