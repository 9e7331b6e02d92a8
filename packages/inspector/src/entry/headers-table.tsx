import type { JSX } from 'preact'
import { excerpt, plainText } from '../../../../src/report/safe-text.js'

interface HeadersTableProps {
  readonly title: string
  readonly headers: unknown
}

/** Maximum number of characters that are shown of a value. Long signatures must still be distinguishable. */
const longest = 600

export function HeadersTable({ title, headers }: HeadersTableProps): JSX.Element | null {
  if (!Array.isArray(headers) || headers.length === 0) return null
  return (
    <details class="headers" open={headers.length <= 30}>
      <summary>
        {title} <small>{headers.length}</small>
      </summary>
      <table>
        <tbody>
          {headers.map(([name, value]: [string, string], index) => (
            <tr key={index}>
              <th scope="row">{plainText(String(name))}</th>
              <td>{excerpt(String(value), longest)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
