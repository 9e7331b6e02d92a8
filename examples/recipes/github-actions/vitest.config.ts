import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['./sandbox.ts'],
    // Where reporters are named, Vitest adds none by itself: 'github-actions' puts failures beside the lines of a pull request.
    reporters: ['default', ...(process.env.GITHUB_ACTIONS ? ['github-actions'] : []), 'stuntdouble/vitest/reporter'],
  },
})
