import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: ['packages/orders', 'packages/mail', 'testing'].map((folder) => ({
      extends: true,
      test: { name: folder.replace('packages/', ''), include: [`${folder}/**/*.test.ts`] },
    })),
  },
})
