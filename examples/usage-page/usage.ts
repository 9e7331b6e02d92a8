// The usage of an account in the current month, and the page that shows it. It is written against the public documents
// of the management API, whose URL is fixed.

const api = 'https://api.upstash.com/v2'

export interface Account {
  readonly email: string
  readonly apiKey: string
  /** Dollars per month. The page warns when 80 % are spent. */
  readonly budget: number
}

export interface Usage {
  readonly databases: readonly {
    readonly name: string
    readonly commands: number
    readonly dollars: number
    readonly bytes: number
  }[]
  readonly commands: number
  readonly dollars: number
  /** Set when 80 % of the budget are spent. */
  readonly warning: string | undefined
}

interface Database {
  readonly database_id: string
  readonly database_name: string
}

interface DatabaseStats {
  readonly total_monthly_requests: number
  readonly total_monthly_billing: number
  readonly current_storage: number
}

export async function readUsage({ budget, ...account }: Account): Promise<Usage> {
  const known = await ask<readonly Database[]>(account, '/redis/databases')
  const databases = await Promise.all(
    known.map(async ({ database_id, database_name }) => {
      const stats = await ask<DatabaseStats>(account, `/redis/stats/${database_id}`)
      return {
        name: database_name,
        commands: stats.total_monthly_requests,
        dollars: stats.total_monthly_billing,
        bytes: stats.current_storage,
      }
    }),
  )
  const dollars = databases.reduce((sum, database) => sum + database.dollars, 0)
  return {
    databases,
    commands: databases.reduce((sum, database) => sum + database.commands, 0),
    dollars,
    warning: warningOf(dollars, budget),
  }
}

function warningOf(dollars: number, budget: number): string | undefined {
  if (dollars >= budget) return `The budget of ${money(budget)} is spent.`
  if (dollars >= 0.8 * budget)
    return `${Math.floor((100 * dollars) / budget)} % of the budget of ${money(budget)} are spent.`
  return undefined
}

async function ask<T>({ email, apiKey }: Omit<Account, 'budget'>, path: string): Promise<T> {
  const headers = { authorization: `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}` }
  const answer = await fetch(api + path, { headers })
  const body = (await answer.json()) as { readonly error?: string }
  if (!answer.ok) throw new Error(`${answer.status}: ${body.error}`)
  return body as T
}

export function pageOf({ databases, commands, dollars, warning }: Usage): string {
  const rows = databases.map(
    ({ name, ...of }) =>
      `<tr><th>${escaped(name)}</th><td>${of.commands}</td><td>${money(of.dollars)}</td><td>${of.bytes} B</td></tr>`,
  )
  return `<!doctype html>
<title>Usage of this month</title>
${warning === undefined ? '' : `<p role="alert">${escaped(warning)}</p>`}
<table>
<tr><th>Database</th><th>Commands</th><th>Cost</th><th>Storage</th></tr>
${rows.join('\n')}
<tr><th>All</th><td>${commands}</td><td>${money(dollars)}</td><td></td></tr>
</table>`
}

function money(dollars: number): string {
  return `$${dollars.toFixed(2)}`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
