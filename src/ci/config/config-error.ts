/** The file cannot be used. Thrown inside the room only; `parse` and `compile` hand its texts back as a value. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}
