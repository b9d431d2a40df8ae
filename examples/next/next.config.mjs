export default {
  // Faultboard opens a database, which no bundler can take along, and there must be one of it in the process.
  serverExternalPackages: ['faultboard'],
}
