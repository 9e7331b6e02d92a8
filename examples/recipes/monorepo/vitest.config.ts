import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['./testing/sandbox.ts'],
    projects: ['orders', 'mail'].map((name) => ({
      extends: true,
      test: { name, include: [`packages/${name}/**/*.test.ts`] },
    })),
  },
})
