/** Interval between two checks of the parent process, in milliseconds of host time. */
const glance = 250

/**
 * Ends this process when npm ends. `npx stuntdouble serve &` starts npm, a shell and this process; when npm gets a
 * signal, it passes the signal to the shell, and the shell does not forward it. A package.json script that starts this
 * command in the background (`&`) ends immediately on purpose, so its parent is not watched. Windows does not report
 * the end of a parent.
 * @param end function that ends this process, called at most once
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
