type Edit = (parent: HTMLElement, options: never) => unknown
interface EditorModule {
  readonly edit: Edit
}

let asked: Promise<EditorModule> | undefined

/** Loads the script that contains the editor and the copy forms. It is loaded only once. */
export function loaded(): Promise<EditorModule> {
  asked ??= new Promise((resolve, reject) => {
    if (document.getElementById('recording') !== null)
      throw new Error('The editor is not available in a recording, which is read-only.')
    const script = document.createElement('script')
    script.src = '/_inspector/editor.js'
    script.onload = () =>
      resolve({ ...(globalThis as unknown as { stuntdoubleEditor: EditorModule }).stuntdoubleEditor })
    script.onerror = () => reject(new Error('The editor could not be loaded.'))
    document.head.append(script)
  })
  return asked
}

/**
 * Replaces `panels/code-editor.ts` in the built page, because the editor would make the page ten times larger. The
 * module exports `then`, so `import()` waits until the script of the editor is loaded.
 */
export function then(resolve: (editor: EditorModule) => void, reject: (error: unknown) => void): void {
  loaded().then(resolve, reject)
}
