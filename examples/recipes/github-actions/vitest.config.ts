import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['./sandbox.ts'],
    reporters: ['default', 'stuntdouble/vitest/reporter'],
  },
})
