import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Editor } from './code-editor.js'

interface TextEditorProps {
  readonly label: string
  readonly text: string
  readonly isJson: boolean
  readonly onChange: (text: string) => void
}

/** Maximum length of a text that is edited with syntax colors, in characters. */
const longest = 200_000

/** Loads the editor with syntax colors. It is loaded only once. */
function loadEditor(): Promise<typeof import('./code-editor.js')> {
  return import('./code-editor.js')
}

/** Edits a text. The user can type in a plain text field until the editor with syntax colors is loaded. */
export function TextEditor({ label, text, isJson, onChange }: TextEditorProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | undefined>(undefined)
  const latest = useRef({ text, onChange })
  latest.current = { text, onChange }
  const [hasColours, setColours] = useState(false)
  const isShort = text.length < longest
  useEffect(() => {
    let isGone = false
    if (isShort)
      loadEditor().then(
        ({ edit }) => {
          if (isGone || place.current === null) return
          editor.current = edit(place.current, {
            text: latest.current.text,
            isJson,
            label,
            onChange: (changed) => latest.current.onChange(changed),
          })
          setColours(true)
        },
        // If the editor cannot be loaded, the plain text field stays.
        () => undefined,
      )
    return () => {
      isGone = true
      editor.current?.remove()
      editor.current = undefined
      setColours(false)
    }
  }, [label, isJson, isShort])
  useEffect(() => {
    if (editor.current !== undefined) editor.current.text = text
  }, [text])
  return (
    <>
      <div ref={place} class="pn-editor" hidden={!hasColours} />
      {!hasColours && (
        <textarea
          class="pn-text"
          aria-label={label}
          rows={Math.min(16, text.split('\n').length + 1)}
          spellcheck={false}
          value={text}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </>
  )
}
