/** The part of Swagger UI that the reference page uses. The package has no types. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  /** A reference on the page. */
  interface SwaggerUiReference {
    preauthorizeApiKey(scheme: string, key: string): void;
  }
  export default function SwaggerUi(options: Readonly<Record<string, unknown>>): SwaggerUiReference;
}
