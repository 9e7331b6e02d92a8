type Edit = (parent: HTMLElement, options: never) => unknown
interface EditorModule {
  readonly edit: Edit
}

let asked: Promise<EditorModule> | undefined

/** The script that has what is asked for on demand: the editor and the forms of copying. Asked for once. */
export function loaded(): Promise<EditorModule> {
  asked ??= new Promise((resolve, reject) => {
    if (document.getElementById('recording') !== null) throw new Error('A recording has no editor.')
    const script = document.createElement('script')
    script.src = '/_inspector/editor.js'
    script.onload = () =>
      resolve({ ...(globalThis as unknown as { stuntdoubleEditor: EditorModule }).stuntdoubleEditor })
    script.onerror = () => reject(new Error('The server does not send its editor.'))
    document.head.append(script)
  })
  return asked
}

/**
 * The build puts this module in the place of `panels/code-editor.ts`, which would make the page ten times as large. It is
 * a promise, so that `import()` of it waits for the script.
 */
export function then(resolve: (editor: EditorModule) => void, reject: (error: unknown) => void): void {
  loaded().then(resolve, reject)
}
