import type { JSX } from 'preact'
import { plainText } from '../../../../src/report/safe-text.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { type Claim, signaturesOf } from './signature-check.js'

/** Shows the signatures of a delivery with their claims, and marks each claim as correct or wrong. */
export function SignatureBlock({ entry }: { readonly entry: TraceEntry }): JSX.Element | null {
  const signatures = signaturesOf(entry)
  if (signatures.length === 0) return null
  return (
    <>
      {signatures.map(({ header, algorithm, claims, seal }) => (
        <section key={header} class="signature">
          <h4>
            Signature in {plainText(header)} <small>{plainText(algorithm)}</small>
          </h4>
          <p class="quiet">{seal}</p>
          <table>
            <tbody>
              {claims.map((claim) => (
                <tr key={claim.name}>
                  <th scope="row">{plainText(claim.name)}</th>
                  <td>
                    {plainText(claim.text)} <Verdict of={claim} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </>
  )
}

function Verdict({ of: { holds, because } }: { readonly of: Claim }): JSX.Element | null {
  if (holds === undefined) return because === undefined ? null : <small class="quiet">not checked: {because}</small>
  return holds ? <small class="holds">✓ valid</small> : <small class="breaks">✗ invalid: {because}</small>
}
