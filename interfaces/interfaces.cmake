# Generates ROS interfaces: of this project, and of the folders beside this file.

find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
set(_interfaces_folder "${CMAKE_CURRENT_LIST_DIR}")

# build_interfaces(PACKAGE...): all of msg/, srv/ and action/, which depend on these packages.
# A macro, because find_package and the generators set variables of the folder.
macro(build_interfaces)
  foreach(_package ${ARGN})
    find_package(${_package} REQUIRED)
  endforeach()

  # ROS packages from PyPI export include folders of the machine that built them, and CMake refuses folders that
  # do not exist. Drop those; on an ordinary ROS installation there are none, and this does nothing.
  get_directory_property(_imported_targets IMPORTED_TARGETS)
  foreach(_target IN LISTS _imported_targets)
    get_target_property(_folders ${_target} INTERFACE_INCLUDE_DIRECTORIES)
    if(_folders)
      set(_existing "")
      foreach(_folder IN LISTS _folders)
        if(NOT IS_ABSOLUTE "${_folder}" OR EXISTS "${_folder}")
          list(APPEND _existing "${_folder}")
        endif()
      endforeach()
      set_target_properties(${_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_existing}")
    endif()
  endforeach()

  if(ROBOT_RT_CONTROL_DEVELOPMENT)
    # ./run has Fast DDS alone, and nodes in Python alone. Those load the type supports in C, by introspection too: without
    # these, Fast DDS complains on the error output. Nothing loads those in C++: a full installation builds them.
    list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "^rosidl_(generator|typesupport.*)_cpp:")
    # It only runs the same generators faster, by what it knows of the versions in requirements*.lock.
    set(_generator "${Python3_EXECUTABLE}" "${_interfaces_folder}/generator.py" "${CMAKE_CURRENT_BINARY_DIR}/parsed")
    list(JOIN _generator "\" \"" _launcher)
    set_property(DIRECTORY PROPERTY RULE_LAUNCH_CUSTOM "\"${_launcher}\"")
  endif()

  file(GLOB _interfaces CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" msg/*.msg srv/*.srv action/*.action)
  # A few messages of other packages were different in Jazzy, whose generators are older than Kilted's.
  if(rosidl_default_generators_VERSION VERSION_LESS 1.7)
    file(GLOB _older CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/jazzy" jazzy/*/*.*)
    foreach(_interface IN LISTS _older)
      list(REMOVE_ITEM _interfaces "${_interface}")
      list(APPEND _interfaces "${CMAKE_CURRENT_SOURCE_DIR}/jazzy:${_interface}")
    endforeach()
  endif()
  rosidl_generate_interfaces(${PROJECT_NAME} ${_interfaces} DEPENDENCIES ${ARGN})
  if(ROBOT_RT_CONTROL_DEVELOPMENT)
    execute_process(
      COMMAND ${_generator} --parse ${rosidl_generate_interfaces_ABS_IDL_FILES} COMMAND_ERROR_IS_FATAL ANY)
  endif()

  # Each message is several files of a second each, most of it spent on the same headers: compiled together they take
  # half the time. Not the descriptions and the introspection type supports: their static names collide.
  foreach(_part rosidl_generator_c rosidl_generator_py
      rosidl_typesupport_c rosidl_typesupport_cpp rosidl_typesupport_fastrtps_c rosidl_typesupport_fastrtps_cpp)
    if(TARGET ${PROJECT_NAME}__${_part})
      set_target_properties(${PROJECT_NAME}__${_part} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 50)
      get_target_property(_sources ${PROJECT_NAME}__${_part} SOURCES)
      list(FILTER _sources INCLUDE REGEX "__description\\.c$")
      set_source_files_properties(${_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()

  ament_export_dependencies(rosidl_default_runtime)
endmacro()
