# A program built by Maven, run on a runtime without its tools.
FROM maven:3-eclipse-temurin-25 AS build
WORKDIR /src
COPY pom.xml ./
RUN mvn --batch-mode dependency:go-offline
COPY src src
RUN mvn --batch-mode package

FROM eclipse-temurin:25-jre
COPY --from=build /src/target/*.jar /app.jar
USER 65534
CMD ["java", "-jar", "/app.jar"]
