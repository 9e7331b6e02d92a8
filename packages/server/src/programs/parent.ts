/** Interval between two checks of the parent process, in milliseconds of host time. */
const glance = 250

/**
 * Ends this process when npm ends. `npx stuntdouble serve &` starts npm, a shell and this process. When npm gets a
 * signal, it passes the signal to the shell, but the shell does not forward the signal. If a package.json script starts
 * this command in the background (`&`), the script ends immediately on purpose. In that case, the parent is not
 * watched. Windows does not report the end of a parent.
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
