import { defineConfig } from 'vitest/config'

// The configuration of a user's project: only its tests, which import the build.
export default defineConfig({ test: { include: ['*.case.ts'], env: { NO_COLOR: '1' } } })
