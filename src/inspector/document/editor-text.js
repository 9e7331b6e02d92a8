export const editorScript = ""
