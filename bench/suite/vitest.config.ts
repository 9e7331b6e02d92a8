import { defineConfig } from 'vitest/config'

// What a user's project has: nothing but its tests. They import the build.
export default defineConfig({ test: { include: ['*.case.ts'], env: { NO_COLOR: '1' } } })
