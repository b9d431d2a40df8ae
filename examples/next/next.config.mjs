export default {
  // Database drivers cannot be bundled, and the process must load a single copy of Faultboard.
  serverExternalPackages: ['faultboard'],
}
