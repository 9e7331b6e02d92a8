/** How often is looked whether the parent is still there, in host milliseconds. */
const glance = 250

/**
 * Ends with npm. `npx stuntdouble serve &` makes three processes, npm, a shell and this one; npm hands the signal that
 * ends it to the shell, which does not hand it on. A script that leaves us in the background by itself (`&`) ends at
 * once, and means it. On Windows nobody is told of a parent's end.
 * @param end may be called once
 */
export function endWithNpm(end: () => void): void {
  const { npm_lifecycle_script: script = '' } = process.env
  const isBackground = /(?<!&)&(?!&)/.test(script)
  if (process.platform === 'win32' || !/\bstuntdouble\b/.test(script) || isBackground) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    end()
  }, glance)
  timer.unref()
}
