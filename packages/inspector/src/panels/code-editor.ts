import { json } from '@codemirror/lang-json'
import { EditorView, minimalSetup } from 'codemirror'

// Built as a separate script. The page loads it when a text is edited.

/** Editor with syntax colors, in place of a plain text field. */
export interface Editor {
  text: string
  focus(): void
  remove(): void
}

export interface EditorOptions {
  readonly text: string
  readonly isJson: boolean
  readonly label: string
  readonly onChange: (text: string) => void
}

/**
 * Creates an editor in an element. A script creates the styles of the editor. The content-security policy allows that
 * only in a shadow tree, so the editor is in one.
 */
export function edit(parent: HTMLElement, { text, isJson, label, onChange }: EditorOptions): Editor {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' })
  const view = new EditorView({
    doc: text,
    root,
    parent: root,
    extensions: [
      minimalSetup,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString())
      }),
      ...(isJson ? [json()] : []),
    ],
  })
  return {
    get text() {
      return view.state.doc.toString()
    },
    set text(insert) {
      if (insert !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } })
    },
    focus: () => view.focus(),
    remove: () => view.destroy(),
  }
}
