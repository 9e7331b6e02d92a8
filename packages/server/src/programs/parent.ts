/** Interval in which the parent process is checked, in host milliseconds. */
const glance = 250

/**
 * Ends this process when npm ends. `npx stuntdouble serve &` starts npm, a shell and this process; npm sends the signal
 * that ends it to the shell, which does not forward it. A script that starts this command in the background (`&`) ends
 * immediately on purpose, so it is not watched. Windows does not report the end of a parent.
 * @param end called at most once
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
