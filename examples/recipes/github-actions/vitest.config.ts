import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['./sandbox.ts'],
    // With explicit reporters, Vitest adds none itself. 'github-actions' shows failures at the lines of a pull request.
    reporters: ['default', ...(process.env.GITHUB_ACTIONS ? ['github-actions'] : []), 'stuntdouble/vitest/reporter'],
  },
})
