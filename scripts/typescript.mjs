/**
 * Flags and environment of the TypeScript compiler. By default, it checks the same types in several threads and collects
 * garbage often. Without both, it takes 12 s of CPU time instead of 31, and less memory.
 */
export const TYPESCRIPT_FLAGS = ['--singleThreaded']
export const TYPESCRIPT_ENVIRONMENT = { ...process.env, GOGC: '400' }
