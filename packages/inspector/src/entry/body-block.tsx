import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { multiLine } from '../../../../src/report/safe-text.js'
import { hexLines, laidOut, type PortableBody, readBody } from '../readable-bytes.js'

interface BodyBlockProps {
  readonly title: string
  readonly body: PortableBody
  /** Text that is shown if there is no body. */
  readonly absent?: string
}

type Form = 'As JSON' | 'As text' | 'Hex'

/** Maximum number of characters that are shown. A reader could not read more on a page. */
const maxChars = 200_000
const maxBytes = 16_384

/** Shows a body as formatted JSON, as text, or as bytes. */
export function BodyBlock({ title, body, absent }: BodyBlockProps): JSX.Element | null {
  const wanted = useSignal<Form | undefined>(undefined)
  const reading = readBody(body)
  if (reading === undefined || (reading.bytes.length === 0 && absent === undefined)) return null
  if (reading.bytes.length === 0) return <p class="quiet">{absent}</p>
  const { text, bytes, cutFrom } = reading
  const pretty = text === undefined || text.length > maxChars ? undefined : laidOut(text)
  const forms = [
    ...(pretty === undefined ? [] : ['As JSON']),
    ...(text === undefined ? [] : ['As text']),
    'Hex',
  ] as Form[]
  const form = wanted.value !== undefined && forms.includes(wanted.value) ? wanted.value : forms[0]!
  const shown =
    form === 'Hex' ? hexLines(bytes, maxBytes) : multiLine((form === 'As JSON' ? pretty! : text!).slice(0, maxChars))
  const isCut = form === 'Hex' ? bytes.length > maxBytes : (text?.length ?? 0) > maxChars
  return (
    <section class="body" aria-label={title}>
      <div class="body-head">
        <h4>{title}</h4>
        <small>
          {bytes.length.toLocaleString('en')} bytes{cutFrom !== undefined && ` of ${cutFrom.toLocaleString('en')}`}
        </small>
        <span class="forms">
          {forms.map((name) => (
            <button key={name} type="button" aria-pressed={name === form} onClick={() => (wanted.value = name)}>
              {name}
            </button>
          ))}
        </span>
      </div>
      <pre tabIndex={0} role="region" aria-label={title}>
        {shown}
        {isCut && '\n… the rest is not shown'}
      </pre>
    </section>
  )
}
