import { json } from '@codemirror/lang-json'
import { EditorView, minimalSetup } from 'codemirror'

// A separate script, which is loaded when text is edited.

/** An editor with colors that replaces a text field. */
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
 * Creates an editor in an element. The editor is in a shadow tree, because a script creates its styles, and the
 * content-security policy allows that only in a shadow tree.
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
