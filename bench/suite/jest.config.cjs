// The configuration of a user's project whose test files need no transform.
module.exports = { rootDir: __dirname, testMatch: ['<rootDir>/*.case.cjs'], transform: {} }
