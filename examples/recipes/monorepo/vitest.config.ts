import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['./testing/sandbox.ts'],
    projects: ['packages/orders', 'packages/mail', 'testing'].map((folder) => ({
      extends: true,
      test: { name: folder.replace('packages/', ''), include: [`${folder}/**/*.test.ts`] },
    })),
  },
})
